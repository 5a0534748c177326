# fish completion of sock: verbs, options with their help, what an option allows; else files. Asks the program itself.
function __sock_verb
    set -l words (commandline -opc)
    test (count $words) -gt 1; and echo $words[2]
end
function __sock_verbs
    test (count (commandline -opc)) -eq 1; and sock --help=verbs 2>/dev/null
end
function __sock_options
    set -l verb (__sock_verb); or return
    set -l last (commandline -opc)[-1]
    sock $verb --help=options 2>/dev/null | while read -l -d \t name metavar choices help
        if test "$name" = "$last"; and string match -q '*|*' -- $choices
            string split '|' -- $choices
            return
        end
        string match -q -- '-*' (commandline -ct); and printf '%s\t%s\n' $name $help
    end
end
complete -c sock -n 'test (count (commandline -opc)) -eq 1' -f -a '(__sock_verbs)'
complete -c sock -n 'test (count (commandline -opc)) -gt 1' -a '(__sock_options)'
