// The version of this build; the bundler puts it in. From source it is unknown.
declare const __STEPWARD_VERSION__: string | undefined;

export const version: string = typeof __STEPWARD_VERSION__ === 'undefined' ? '0.0.0-source' : __STEPWARD_VERSION__;
