// What a shell must be told. Each script only asks `stepward __complete` and shows the answer: a line for each candidate (value,
// tab, description), and a last one, `:files`, `:dirs` or `:none`, for what the shell itself may offer besides.
export const SHELLS = Object.freeze(['bash', 'zsh', 'fish'] as const);
export type Shell = (typeof SHELLS)[number];

/** Works with the bash 3.2 of macOS, which has neither compopt nor nosort. */
const bash = `# stepward completion for bash. For this shell:  source <(stepward completion bash)
# For all shells to come:  stepward completion bash > ~/.local/share/bash-completion/completions/stepward
_stepward() {
  local rest="\${COMP_LINE:0:COMP_POINT}" trimmed word value about besides=none i
  local -a words=() abouts=()
  # bash cuts words at = : @ as well; they are put together again as they stand in the line.
  for ((i = 0; i <= COMP_CWORD; i++)); do
    trimmed="\${rest#"\${rest%%[![:space:]]*}"}"
    word="\${COMP_WORDS[i]}"
    [[ $i -eq $COMP_CWORD ]] && word="$trimmed"
    if [[ $i -gt 0 && -n "$rest" && "$trimmed" == "$rest" ]]; then
      words[\${#words[@]}-1]+="$word"
    else
      words[\${#words[@]}]="$word"
    fi
    rest="\${trimmed#"$word"}"
  done
  # Only $2 is replaced; what stands before it in the same word must not come twice.
  local typed="\${words[\${#words[@]}-1]}"
  local before="\${typed%"$2"}"
  COMPREPLY=()
  while IFS=$'\\t' read -r value about; do
    case "$value" in
      :*) besides="\${value#:}" ;;
      *)
        COMPREPLY[\${#COMPREPLY[@]}]="\${value#"$before"}"
        abouts[\${#abouts[@]}]="$about"
        ;;
    esac
  done < <(stepward __complete "\${words[@]:1}" 2>/dev/null)
  if [[ $besides == dirs ]]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r value; do COMPREPLY[\${#COMPREPLY[@]}]="$value"; done < <(compgen -d -- "$2")
  fi
  [[ $besides == files ]] || compopt +o default 2>/dev/null
  # Descriptions only where bash lists and inserts nothing.
  if [[ \${COMP_TYPE:-9} -eq 63 && \${#COMPREPLY[@]} -gt 1 ]]; then
    for ((i = 0; i < \${#abouts[@]}; i++)); do
      [[ -n "\${abouts[i]}" ]] && COMPREPLY[i]+="  (\${abouts[i]})"
    done
  fi
}
complete -o nosort -o default -F _stepward stepward 2>/dev/null || complete -o default -F _stepward stepward
`;

const zsh = `#compdef stepward
# stepward completion for zsh. For this shell, after compinit:  source <(stepward completion zsh)
# For all shells to come:  stepward completion zsh > DIR/_stepward   (a DIR of your $fpath)
_stepward() {
  local line besides=none
  local -a values shown
  for line in "\${(@f)$(stepward __complete "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null)}"; do
    case "$line" in
      '') ;;
      :*) besides="\${line#:}" ;;
      *)
        values+=("\${line%%$'\\t'*}")
        shown+=("\${(r:14:)\${line%%$'\\t'*}}  \${line#*$'\\t'}")
        ;;
    esac
  done
  # Not _describe: it would sort those of one description together, and the newest job has to come first.
  (( $#values )) && compadd -l -V stepward -d shown -a values
  [[ "$PREFIX" == --*=* ]] && compset -P '*='
  case "$besides" in
    files) _files ;;
    dirs) _files -/ ;;
  esac
}
if [[ "\${funcstack[1]}" == _stepward ]]; then
  _stepward "$@"
else
  compdef _stepward stepward
fi
`;

const fish = `# stepward completion for fish. For this shell:  stepward completion fish | source
# For all shells to come:  stepward completion fish > ~/.config/fish/completions/stepward.fish
function __stepward_complete
    set -l tokens (commandline -opc)
    set -l word (commandline -ct)
    set -l besides none
    for line in (stepward __complete $tokens[2..-1] "$word" 2>/dev/null)
        if string match -q ':*' -- $line
            set besides (string sub -s 2 -- $line)
        else
            printf '%s\\n' $line
        end
    end
    # In --option=path only the path is a path.
    set -l before (string match -r '^--[^=]*=' -- $word)
    set -l path (string replace -r '^--[^=]*=' '' -- $word)
    switch $besides
        case files
            for found in (__fish_complete_path "$path")
                printf '%s%s\\n' "$before" $found
            end
        case dirs
            for found in (__fish_complete_directories "$path" '')
                printf '%s%s\\n' "$before" $found
            end
    end
end
complete -c stepward -e
complete -c stepward -k -f -a '(__stepward_complete)'
`;

export const SCRIPTS: Readonly<Record<Shell, string>> = Object.freeze({ bash, zsh, fish });
