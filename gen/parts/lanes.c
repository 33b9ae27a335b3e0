#include "parts/lanes.h"
#include "parts/made_name.h"

void lanes_exchange(const lane_exchange *x, mc_reg first, mc_reg second) {
    mc_builder *b = x->b;
    EMIT(b, selp_b32, x->give, first, second, x->odd);
    EMIT(b, shfl_bfly, x->got, x->give, I(1 << x->bit), I(LAST_LANE), ALL_LANES);
    EMIT(b, selp_b32, first, x->got, first, x->odd);
    EMIT(b, selp_b32, second, second, x->got, x->odd);
}

lane_transpose lanes_declare_transpose(mc_builder *b, mc_reg lane, int count) {
    static const char *const odd[] = {"odd_place", "odd_pair"};
    lane_transpose x = {.place = and_b32(b, "lane_place", lane, I(count - 1)), .count = count};
    mc_reg give = b32(b, "give_word"), got = b32(b, "got_word");
    for (int bit = 0; 1 << bit < count; bit++) {
        EMIT(b, and_b32, give, x.place, I(1 << bit));
        x.exchange[bit] = (lane_exchange){b, bit, setp_ne(b, odd[bit], give, I(0)), give, got};
    }
    return x;
}

void lanes_transpose(const lane_transpose *x, const mc_reg word[]) {
    for (int i = 0; 1 << i < x->count; i++)
        for (int first = 0; first < x->count; first++)
            if (!(first >> i & 1)) lanes_exchange(&x->exchange[i], word[first], word[first + (1 << i)]);
}

void lanes_sum(mc_builder *b, mc_reg lane, mc_reg word) {
    for (int lanes = 1; lanes < MC_WARP; lanes *= 2) {
        mc_reg from = max_s32(b, name_nth("from", lanes).text,
                              sub_s32(b, name_nth("from_or_none", lanes).text, lane, I(lanes)), I(0));
        mc_reg other = shfl_idx(b, name_nth("lower_sum", lanes).text, word, from, I(LAST_LANE), ALL_LANES);
        EMIT_IF(b, setp_ge(b, name_nth("has", lanes).text, lane, I(lanes)), add_s32, word, word, other);
    }
}

mc_reg lanes_lower(mc_builder *b, mc_reg lane) {
    return sub_s32(b, "lower_lanes", shl_b32(b, "own_lane", I(1), lane), I(1));
}
