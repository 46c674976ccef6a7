// Texts as long as the longest that anybody may send.

import { expect, test } from 'vitest'
import { maskPans } from '../../src/domain/pan.ts'

test.each(['4 ', '4', '"', '%34', '+', 'DE00 '])(
  'a mebibyte of %j is masked, and masking comes to its end',
  (piece) => {
    const text = piece.repeat(1_048_576 / piece.length)
    expect(maskPans(maskPans(text))).toBe(maskPans(text))
  },
)
