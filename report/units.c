/* units.c - see units.h. */
#include "units.h"

#include "datemarks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

const char *unit_inside_log(const char *name, size_t *length)
{
    const size_t all = strlen(name);
    if (all <= strlen("log()") || strncmp(name, "log(", 4) != 0 || name[all - 1] != ')') return NULL;
    *length = all - strlen("log()");
    return name + strlen("log(");
}

void unit_of_axis(const char *name, size_t size, char *text)
{
    size_t length;
    double seconds;
    const char *inside = unit_inside_log(name, &length);
    if (inside)
        snprintf(text, size, "%.*s (log scale)", (int)length, inside);
    else if (date_axis(name, &seconds, &length))
        snprintf(text, size, "%.*s", (int)length, name);
    else
        snprintf(text, size, "%s", name);
}

double unit_value(const char *name, double value)
{
    size_t length;
    return unit_inside_log(name, &length) ? exp(value) : value;
}

void unit_of(const char *name, size_t size, char *text)
{
    const size_t length = strlen(name);
    size_t inside;
    text[0] = 0;
    if (length < 3 || unit_inside_log(name, &inside)) return;
    const char close = name[length - 1], open = (char)(close == ']' ? '[' : close == ')' ? '(' : 0);
    const char *from = open ? strrchr(name, open) : NULL;
    if (!from || from == name || (size_t)(name + length - from) > 14) return;
    snprintf(text, size, "%.*s", (int)(name + length - 2 - from), from + 1);
}

/* "Year", "years": year, and what else is counted. NULL: no word for a time. */
static const char *time_word(const char *name)
{
    static const char *const word[] = {"millisecond", "second",  "minute", "hour",      "day",    "week",
                                       "month",       "quarter", "season", "year",      "decade", "cycle",
                                       "frame",       "session", "trial",  "generation"};
    for (size_t i = 0; i < sizeof word / sizeof *word; i++) {
        const size_t length = strlen(word[i]);
        if (strncasecmp(name, word[i], length) == 0 && (!name[length] || !strcasecmp(name + length, "s")))
            return word[i];
    }
    return NULL;
}

void unit_of_time(const char *name, size_t size, char *text)
{
    unit_of(name, size, text);
    const char *word = time_word(*text ? text : name);
    if (word) snprintf(text, size, "%ss", word);
}

void unit_one(const char *name, size_t size, char *text)
{
    char unit[32];
    unit_of_time(name, sizeof unit, unit);
    const char *word = time_word(unit);
    if (word)
        snprintf(text, size, "%s %s", *word == 'h' ? "an" : "a", word);
    else
        snprintf(text, size, *unit ? "1 %s" : "a unit of time", unit);
}

void unit_of_field(const char *state, const char *time, int power, size_t size, char *text)
{
    char of_state[32], of_time[32];
    unit_of(state, sizeof of_state, of_state);
    unit_of(time, sizeof of_time, of_time);
    text[0] = 0;
    if (*of_time && !*of_state) { /* "years": in one year */
        const size_t length = strlen(of_time), plural = length > 2 && of_time[length - 1] == 's';
        snprintf(text, size, " [per %.*s]", (int)(length - plural), of_time);
    }
    if (!*of_state || !*of_time) return;
    const char *divider = strpbrk(of_state, "/ *") && power > 1 ? "(" : "";
    snprintf(text, size, " [%s%s%s%s/%s]", divider, of_state, *divider ? ")" : "", power > 1 ? "\xc2\xb2" : "",
             of_time);
}
