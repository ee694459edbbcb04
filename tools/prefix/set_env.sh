# Sets up a shell for this toolkit. To be sourced, not executed:
#
#   . /path/to/set_env.sh                       bash, zsh, ksh93
#   set -- /path/to && . /path/to/set_env.sh    other POSIX shells (a sourced
#                                               file cannot find itself there)
#
# In those other shells the directory may also come from CANNERY_HOME, or be the
# current one. The toolkit may be moved; nothing in here names its place.

_cannery_file=
if [ -n "${BASH_VERSION:-}" ]; then
    _cannery_file=${BASH_SOURCE:-}
elif [ -n "${ZSH_VERSION:-}" ]; then
    # Only zsh can read this expansion, so the other shells must not see it.
    eval '_cannery_file=${(%):-%x}'
elif (eval ': "${.sh.file}"') 2>/dev/null; then
    eval '_cannery_file=${.sh.file}'
fi

_cannery_home=
if [ -n "$_cannery_file" ]; then
    _cannery_home=$(dirname -- "$(readlink -f -- "$_cannery_file")")
else
    for _cannery_place in "${1:-}" "${CANNERY_HOME:-}" "${PWD:-}"; do
        if [ -n "$_cannery_place" ] && [ -f "$_cannery_place/share/cannery/manifest" ]; then
            _cannery_home=$(readlink -f -- "$_cannery_place")
            break
        fi
    done
fi
unset _cannery_file _cannery_place

if [ ! -f "$_cannery_home/share/cannery/manifest" ]; then
    unset _cannery_home
    printf '%s\n' 'set_env.sh: cannot find my own directory in this shell;' \
        'name it first: set -- /path/to && . /path/to/set_env.sh' >&2
    return 1
fi

# A search path ($2) with a directory ($1) in front. No empty entries: they
# would mean the current directory.
_cannery_front() {
    case "$2" in
    '') printf '%s' "$1" ;;
    "$1" | "$1":*) printf '%s' "$2" ;;
    *) printf '%s:%s' "$1" "$2" ;;
    esac
}

# A search path ($2) with a directory ($1) at its end.
_cannery_behind() {
    case "$2" in
    "$1" | *:"$1") printf '%s' "$2" ;;
    *) printf '%s:%s' "$2" "$1" ;;
    esac
}

export ASCEND_HOME_PATH="$_cannery_home"
export ASCEND_TOOLKIT_HOME="$_cannery_home"
LD_LIBRARY_PATH=$(_cannery_front "$_cannery_home/lib64" "${LD_LIBRARY_PATH:-}")
# Last, and only where there is nothing else: real operators win.
LD_LIBRARY_PATH=$(_cannery_behind "$_cannery_home/opp/lib64" "$LD_LIBRARY_PATH")
export ASCEND_OPP_PATH="${ASCEND_OPP_PATH:-$_cannery_home/opp}"
PYTHONPATH=$(_cannery_front "$_cannery_home/python" "${PYTHONPATH:-}")
PATH=$(_cannery_front "$_cannery_home/bin" "${PATH:-}")
export LD_LIBRARY_PATH PYTHONPATH PATH

unset -f _cannery_front _cannery_behind
unset _cannery_home
