// @ts-check
// What pages do beyond links and forms. Without it everything works, too.

/** Moments in the reader's own zone, with the offset; the moment in UTC stays at hand. */
function showLocalTimes() {
  const say = new Intl.DateTimeFormat('sv-SE', {
    ...{ year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit' },
    timeZoneName: 'longOffset',
  })
  for (const time of document.querySelectorAll('time[datetime]')) {
    const at = new Date(/** @type {HTMLTimeElement} */ (time).dateTime)
    if (Number.isNaN(at.getTime())) continue
    /** @type {HTMLElement} */
    const shown = /** @type {HTMLElement} */ (time)
    if (shown.title === '') shown.title = `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`
    time.textContent = say.format(at).replace('GMT', 'UTC')
  }
}

/** Ids are copied whole. */
function offerCopies() {
  for (const id of document.querySelectorAll('code[data-copy]')) {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'small other'
    button.textContent = 'Copy'
    button.setAttribute('aria-label', `Copy ${id.textContent}`)
    button.addEventListener('click', () => {
      void copy(id.textContent ?? '').then((done) => {
        button.textContent = done ? 'Copied' : 'Select it and copy'
      })
    })
    id.after(' ', button)
  }
}

/**
 * Also where there is no TLS, and browsers give no clipboard.
 * @param {string} text
 * @returns {Promise<boolean>}
 */
async function copy(text) {
  if (navigator.clipboard !== undefined)
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    )
  const field = document.createElement('textarea')
  field.value = text
  document.body.append(field)
  field.select()
  const done = document.execCommand('copy')
  field.remove()
  return done
}

/** Where `g` leads with the next key. Who may not go there has no such link. */
const PLACES = /** @type {Record<string, string>} */ ({ o: '/', n: '/new', d: '/doubts', m: '/merchants' })
const SECOND_KEY_WITHIN_MS = 2_000
const KEYS_OFF = 'tranche-shortcuts-off'

/** They are listed at the end of the page. Nothing that moves money has a key. */
function takeKeys() {
  let wentAt = Number.NEGATIVE_INFINITY
  document.addEventListener('keydown', (event) => {
    const target = /** @type {HTMLElement} */ (event.target)
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || event.defaultPrevented) return
    if (target.matches('input, textarea, select, [contenteditable]') || areKeysOff()) return
    const isSecond = event.timeStamp - wentAt < SECOND_KEY_WITHIN_MS
    wentAt = event.key === 'g' ? event.timeStamp : Number.NEGATIVE_INFINITY
    if (isSecond ? goTo(event.key) : press(event.key)) event.preventDefault()
  })
  offerKeysOff()
}

/** @param {string} key */
function goTo(key) {
  const place = PLACES[key]
  return place !== undefined && clickOn(document.querySelector(`.top nav a[href="${place}"]`))
}

/** @param {string} key */
function press(key) {
  switch (key) {
    case '/':
      return focusOn(document.querySelector('input[type=search]'))
    case 'j':
      return focusOn(rowBeside(1))
    case 'k':
      return focusOn(rowBeside(-1))
    case 't':
      return clickOn(nextTheme())
    case '?':
      return showKeys()
    default:
      return false
  }
}

/** The last is followed by the first. */
function nextTheme() {
  const themes = document.querySelector('#themes')
  return themes?.querySelector('[aria-pressed=true] + button') ?? themes?.querySelector('button') ?? null
}

/**
 * The first link of a row: of the next one, or of the one before; at first, of the first.
 * @param {1 | -1} step
 */
function rowBeside(step) {
  const rows = Array.from(document.querySelectorAll('main tbody tr, main .cards > li')).filter((row) =>
    row.querySelector('a'),
  )
  const at = rows.findIndex((row) => row.contains(document.activeElement))
  return rows[at === -1 ? 0 : at + step]?.querySelector('a') ?? null
}

/** @param {Element | null} found */
function focusOn(found) {
  if (found === null) return false
  const shown = /** @type {HTMLElement} */ (found)
  shown.focus()
  return true
}

/** @param {Element | null} found */
function clickOn(found) {
  if (found === null) return false
  const shown = /** @type {HTMLElement} */ (found)
  shown.click()
  return true
}

function showKeys() {
  /** @type {HTMLDetailsElement | null} */
  const keys = document.querySelector('#shortcuts')
  if (keys === null) return false
  keys.open = !keys.open
  return focusOn(keys.querySelector('summary'))
}

function areKeysOff() {
  try {
    return localStorage.getItem(KEYS_OFF) !== null
  } catch {
    return false // a browser that keeps nothing
  }
}

/** For whom single keys do harm, as where speech types them. */
function offerKeysOff() {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'small other'
  const say = () => {
    button.textContent = areKeysOff() ? 'Turn shortcuts on' : 'Turn shortcuts off'
  }
  button.addEventListener('click', () => {
    if (areKeysOff()) localStorage.removeItem(KEYS_OFF)
    else localStorage.setItem(KEYS_OFF, 'off')
    say()
  })
  say()
  document.querySelector('#shortcuts')?.append(button)
}

const STALE_AFTER_MS = 10_000
const CLOSED_AFTER_HIDDEN_MS = 30_000
/** However fast something changes: what is told next asks again. */
const AGAIN_EVERY_MS = 2_000
let askedAgainAt = Number.NEGATIVE_INFINITY
const policy = window.trustedTypes?.createPolicy('tranche', { createHTML: (text) => text })

/** Figures change where they stand; where more changes, the page is asked for again, but never under somebody's hands. */
function watch() {
  const main = document.getElementById('main')
  const address = main?.dataset.watch
  if (main === null || address === undefined) return
  let heardAt = performance.now()
  /** @type {EventSource | null} */
  let source = null
  const open = () => {
    source = new EventSource(address)
    source.onmessage = ({ data }) => {
      heardAt = performance.now()
      const seen = JSON.parse(data)
      sayHeard(seen.at)
      patch(seen.figures)
      if (seen.shape !== main.dataset.shape) void showAgain(main)
    }
  }
  const close = () => {
    source?.close()
    source = null
  }
  open()
  setInterval(() => {
    const seconds = Math.round((performance.now() - heardAt) / 1000)
    if (source !== null && seconds * 1000 > STALE_AFTER_MS) sayStale(seconds)
  }, 1000)
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let hiding
  document.addEventListener('visibilitychange', () => {
    clearTimeout(hiding)
    if (document.hidden) hiding = setTimeout(close, CLOSED_AFTER_HIDDEN_MS)
    else if (source === null) open()
  })
}

/** @param {Record<string, string>} figures */
function patch(figures) {
  for (const node of document.querySelectorAll('[data-live]')) {
    const text = figures[/** @type {HTMLElement} */ (node).dataset.live ?? '']
    if (text === undefined || node.textContent === text) continue
    node.textContent = text
    node.classList.remove('changed')
    node.classList.add('changed')
  }
  for (const part of document.querySelectorAll('[data-status]')) {
    const name = part.getAttribute('data-status')
    for (const attribute of ['x', 'width']) {
      const value = figures[`${attribute}-${name}`]
      if (value !== undefined) part.setAttribute(attribute, value)
    }
  }
}

/** @param {string} at */
function sayHeard(at) {
  const line = document.querySelector('.as-of')
  if (document.getElementById('stale') !== null) line?.classList.remove('still')
  document.getElementById('stale')?.remove()
  const time = document.querySelector('#as-of time')
  if (time === null) return
  /** @type {HTMLTimeElement} */
  const shown = /** @type {HTMLTimeElement} */ (time)
  shown.dateTime = at
  shown.title = ''
  showLocalTimes()
}

/** @param {number} seconds */
function sayStale(seconds) {
  const line = document.querySelector('.as-of')
  if (line === null) return
  let words = document.getElementById('stale')
  if (words === null) {
    words = document.createElement('strong')
    words.id = 'stale'
    line.prepend(words)
  }
  line.classList.add('still')
  words.textContent = `STALE: last heard from the ledger ${seconds} s ago. Figures may be older than they look. `
}

/** @param {HTMLElement} main */
async function showAgain(main) {
  if (isBusy(main)) return offerAgain(main)
  if (performance.now() - askedAgainAt < AGAIN_EVERY_MS) return
  askedAgainAt = performance.now()
  const answer = await fetch(location.href, { headers: { accept: 'text/html', 'x-asked-by': 'page' } })
  if (answer.redirected) return location.assign(location.href)
  if (!answer.ok) return
  const text = await answer.text()
  const trusted = policy === undefined ? text : policy.createHTML(text)
  const page = new DOMParser().parseFromString(/** @type {string} */ (trusted), 'text/html')
  const [now, line] = [page.getElementById('main'), page.querySelector('.as-of')]
  if (now === null || isBusy(main)) return
  if (now.dataset.shape !== main.dataset.shape) sayDoneEarlier()
  for (const name of ['shape', 'again']) {
    const value = now.dataset[name]
    if (value === undefined) delete main.dataset[name]
    else main.dataset[name] = value
  }
  document.title = page.title
  main.replaceChildren(...now.childNodes)
  if (line !== null) document.querySelector('.as-of')?.replaceWith(line)
  showLocalTimes()
  offerCopies()
}

/** It was said of the page as it was, and stands above what may be otherwise by now. To take it away would be too fast for a reader. */
function sayDoneEarlier() {
  const done = document.querySelector('.note.done:not(.earlier) p')
  if (done === null) return
  done.prepend('Said before this page changed: ')
  done.parentElement?.classList.add('earlier')
}

/** A page that is about to become another, as a file that is being read. */
function comeAgain() {
  const main = document.getElementById('main')
  const seconds = Number(main?.dataset.again ?? 0)
  if (main === null || seconds === 0) return
  setTimeout(() => void showAgain(main).then(comeAgain, comeAgain), seconds * 1000)
}

/** @param {HTMLElement} main */
function isBusy(main) {
  if (main.contains(document.activeElement) && document.activeElement !== main) return true
  return Array.from(main.querySelectorAll('input:not([type=hidden]), textarea')).some(
    (field) => /** @type {HTMLInputElement} */ (field).value !== /** @type {HTMLInputElement} */ (field).defaultValue,
  )
}

/** @param {HTMLElement} main */
function offerAgain(main) {
  if (document.getElementById('changed') !== null) return
  const bar = document.createElement('p')
  bar.id = 'changed'
  bar.className = 'note warn'
  bar.setAttribute('role', 'status')
  const link = document.createElement('a')
  link.href = location.href
  link.textContent = 'Show it as it is now'
  bar.append('This page has changed since you opened it. ', link)
  main.prepend(bar)
}

showLocalTimes()
offerCopies()
takeKeys()
watch()
comeAgain()
