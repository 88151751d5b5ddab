// What `stepward init` writes. Lines that begin with `#` and no space are settings: uncommented they are a valid config, which a
// test proves.
export const STARTER = `# Stepward's config. Every line is optional; what is commented out shows an example.
# Flags beat environment variables (STEPWARD_TIMEOUT, STEPWARD_AGENT, …), and these beat this file.
# Durations: 500ms, 90s, 10m, 1h30m, 2d.

# Agents by the name that --agent takes. Without this section the kinds are there under their own names: command, human.
#agents:
#  worker:
# kind: command = any command line that reads a brief and calls stepward emit; human = a person who does so.
#    kind: command
# What to start: no shell. {brief} stands for the brief's path; the brief comes on standard input, too.
#    command: [node, agent.js, "{brief}"]
# Variables for the agent. Of your own environment it only gets the harmless ones (PATH, HOME, LANG, …).
#    env: { MODEL: small }
# Without a session each job has one of its own. A named one does one job at a time.
#    session: "headless:worker"
# By which ways it can report: the registry (inbox), MQTT (bus), files in its working directory (spool).
#    ways: [inbox, bus, spool]
#  me:
#    kind: human

#timeouts:
# From the delivery of the brief to the end of the job.
#  job: 1h
# Silence, after which the job fails.
#  idle: 10m
# How long a question of the agent may stay open.
#  permission: 30m
# How long a job waits for its session; default: as long as it may take.
#  queue: 1h

# An MQTT broker that agents and watchers elsewhere can reach. Default: a small one on 127.0.0.1, which needs nothing.
#bus:
# mqtt, mqtts, mqtt+unix, ws or wss; off for no bus at all.
#  url: mqtts://broker.example:8883
#  prefix: stepward
# Or in STEPWARD_MQTT_USERNAME, …_PASSWORD. Agents get this login unless they have one of their own.
#  username: driver
#  password: secret
#  agent: { username: agent, password: secret too }
# PEM files: the authority of the broker's certificate; cert and key where it asks for a client's.
#  ca: ca.pem

# Where jobs are kept. Default: stepward/ in the repository's .git, where no clean reaches; outside git .stepward/ here.
#registry: .stepward
`;
