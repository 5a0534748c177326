# bash completion of sock: verbs, options, what an option allows; else files. Asks the program itself.
_sock() {
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]} program=${COMP_WORDS[0]}
  local table name metavar choices _
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ] || { [ "$COMP_CWORD" -eq 2 ] && [ "$verb" = help ]; }; then
    COMPREPLY=($(compgen -W "$("$program" --help=verbs 2>/dev/null | cut -f1) help" -- "$current"))
    return
  fi
  table=$("$program" "$verb" --help=options 2>/dev/null)
  if [ "$before" = = ]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi
  if [ "$current" = = ]; then current=; fi
  while IFS=$'\t' read -r name metavar choices _; do
    if [ "$name" = "$before" ] && [[ "$choices" == *"|"* ]]; then
      COMPREPLY=($(compgen -W "${choices//|/ }" -- "$current"))
      return
    fi
  done <<<"$table"
  case $current in
    -*) COMPREPLY=($(compgen -W "$(cut -f1 <<<"$table")" -- "$current")) ;;
    *) COMPREPLY=($(compgen -f -- "$current")) ;;
  esac
}
complete -o filenames -o bashdefault -F _sock sock
