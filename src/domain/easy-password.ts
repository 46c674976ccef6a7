// Passwords that are among the first that others try, in whatever dress: other letters, years and signs around them, said twice.

/** Whatever is made of these alone is easy. They are in no order; a word inside of another need not stand here. */
const WORDS = [
  ...[
    'password',
    'passwort',
    'passwd',
    'kennwort',
    'parola',
    'contrasena',
    'motdepasse',
    'wachtwoord',
    'secret',
    'geheim',
  ],
  ...[
    'admin',
    'administrator',
    'root',
    'user',
    'guest',
    'login',
    'letmein',
    'welcome',
    'willkommen',
    'access',
    'default',
  ],
  ...[
    'test',
    'changeme',
    'change',
    'master',
    'tranche',
    'company',
    'firma',
    'office',
    'finance',
    'money',
    'hello',
    'hallo',
  ],
  ...[
    'qwerty',
    'qwertz',
    'azerty',
    'iloveyou',
    'love',
    'lovely',
    'baby',
    'angel',
    'princess',
    'sunshine',
    'flower',
    'star',
  ],
  ...[
    'monkey',
    'dragon',
    'tiger',
    'eagle',
    'horse',
    'wolf',
    'mustang',
    'jaguar',
    'panther',
    'chicken',
    'cookie',
    'banana',
  ],
  ...[
    'football',
    'fussball',
    'soccer',
    'baseball',
    'basketball',
    'hockey',
    'golf',
    'tennis',
    'arsenal',
    'liverpool',
    'chelsea',
  ],
  ...[
    'superman',
    'batman',
    'spiderman',
    'pokemon',
    'starwars',
    'matrix',
    'ninja',
    'hunter',
    'killer',
    'shadow',
    'ranger',
  ],
  ...[
    'summer',
    'winter',
    'spring',
    'autumn',
    'sommer',
    'herbst',
    'fruhling',
    'january',
    'february',
    'march',
    'april',
    'may',
  ],
  ...[
    'june',
    'july',
    'august',
    'september',
    'october',
    'november',
    'december',
    'januar',
    'februar',
    'monday',
    'friday',
  ],
  ...[
    'michael',
    'jennifer',
    'jessica',
    'charlie',
    'thomas',
    'andrea',
    'daniel',
    'jordan',
    'george',
    'ashley',
    'london',
    'berlin',
  ],
  ...[
    'trustno',
    'freedom',
    'whatever',
    'computer',
    'internet',
    'google',
    'samsung',
    'apple',
    'microsoft',
    'windows',
    'database',
  ],
  ...[
    'correct',
    'battery',
    'staple',
    'blink',
    'purple',
    'orange',
    'silver',
    'golden',
    'diamond',
    'ginger',
    'pepper',
    'cheese',
  ],
]
/** With a letter or two of somebody's own behind it. */
const OF_WORDS = new RegExp(`^(?:${WORDS.join('|')})*[a-z]{0,2}$`)

const LETTERS: Readonly<Record<string, string>> = {
  '@': 'a',
  '4': 'a',
  '3': 'e',
  '1': 'i',
  '!': 'i',
  '0': 'o',
  $: 's',
  '5': 's',
}
const KEYS = ['1234567890', 'qwertyuiop', 'asdfghjkl', 'zxcvbnm'].flatMap((row, y) =>
  [...row].map((key, x) => [key, { x, y }] as const),
)
const PLACES = new Map(KEYS)

/** Whether next to each other on a keyboard, in the alphabet, or the same. */
function areNeighbours(one: string, other: string): boolean {
  const [from, to] = [PLACES.get(one), PLACES.get(other)]
  const isNear = from !== undefined && to !== undefined && Math.abs(from.x - to.x) <= 1 && Math.abs(from.y - to.y) <= 1
  return isNear || Math.abs(one.charCodeAt(0) - other.charCodeAt(0)) <= 1
}

/** Of ten steps from sign to sign. By chance it is two or three. */
const STEPS_OF_TEN = 8

export function isEasyPassword(password: string): boolean {
  const small = password.normalize('NFKD').toLowerCase()
  const bare = small.replace(/[^a-z]/g, '')
  const inside = small.replace(/^[^a-z@$]+|[^a-z@$]+$/g, '')
  const translated = inside.replace(/[@4310!$5]/g, (sign) => LETTERS[sign] ?? '').replace(/[^a-z]/g, '')
  const isOfWords = OF_WORDS.test(bare) || OF_WORDS.test(translated)
  if (new Set(small).size < 5 || (isOfWords && /^[ -~]*$/.test(small))) return true
  const near = [...small].slice(1).filter((sign, i) => areNeighbours(small[i] ?? '', sign)).length
  return near * 10 >= (small.length - 1) * STEPS_OF_TEN
}
