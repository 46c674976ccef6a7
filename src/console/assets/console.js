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
    time.title = time.textContent ?? ''
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

/** `/` goes to the search. Nothing that moves money has a key. */
function takeKeys() {
  document.addEventListener('keydown', (event) => {
    const target = /** @type {HTMLElement} */ (event.target)
    if (event.key !== '/' || target.matches('input, textarea, select') || event.ctrlKey || event.metaKey) return
    const search = document.querySelector('input[type=search]')
    if (search === null) return
    event.preventDefault()(/** @type {HTMLInputElement} */ search).focus()
  })
}

showLocalTimes()
offerCopies()
takeKeys()
