/*
 * The bits are those of nvmlClocksEventReasons ("NVML API Reference Guide").
 *
 * Samples of a GPU that is too hot, or whose board or power supply asks it to slow down, are spoiled: they
 * measure its cooling and not the program. The power cap is different. Large matrix products run at the
 * board's power limit for as long as they last, so samples without it would not be those of a real machine,
 * and often there would be none; the row has the clocks under the cap. Sync boost and display clocks are
 * settings, which waiting does not change.
 */
#include "bench/machine/nvml.h"

#include <stdio.h>
#include <string.h>

const struct throttle_reason throttle_reasons[] = {
    {0x04, "power cap", false},
    {0x08, "hardware slowdown", true},
    {0x10, "sync boost", false},
    {0x20, "thermal", true},
    {0x40, "hardware thermal slowdown", true},
    {0x80, "power brake", true},
    {0x100, "display clocks", false},
    {0, NULL, false},
};

void throttle_text(uint64_t reasons, char text[THROTTLE_TEXT])
{
    text[0] = '\0';
    for (const struct throttle_reason *r = throttle_reasons; r->name; r++) {
        size_t used = strlen(text);
        if (reasons & r->bit)
            snprintf(text + used, THROTTLE_TEXT - used, "%s%s", used ? ", " : "", r->name);
    }
    if (!*text)
        snprintf(text, THROTTLE_TEXT, "none");
}

enum fate throttle_judge(uint64_t reasons, int discards, bool time_left)
{
    bool spoiled = false;
    for (const struct throttle_reason *r = throttle_reasons; r->name; r++)
        spoiled = spoiled || (r->spoils && (reasons & r->bit));
    return !spoiled ? FATE_KEPT : time_left && discards < DISCARDS_MAX ? FATE_DISCARDED : FATE_KEPT_THROTTLED;
}
