import { useLayoutEffect } from 'preact/hooks'
import { problemCount } from '../problems.ts'

const mark = "<rect width='32' height='32' rx='8' fill='#4338ca'/>"
const letter = "<path d='M9 22V10h6v12m2 0v-7h6v7' stroke='#fff' stroke-width='2.5' fill='none'/>"
const most = 99

/** The icon of the tab carries the number of problems: a tab in the background shows little else. */
export function TabIcon() {
  const count = problemCount()
  useLayoutEffect(() => {
    const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]')
    if (link !== null) link.href = `data:image/svg+xml,${encodeURIComponent(toSvg(count))}`
  }, [count])
  return null
}

function toSvg(count: number): string {
  const text = count > most ? `${most}+` : String(count)
  const badge = `<rect x='6' y='10' width='26' height='22' rx='8' fill='#b3261e'/><text x='19' y='26' text-anchor='middle' font-family='sans-serif' font-weight='700' font-size='${text.length > 2 ? 12 : 16}' fill='#fff'>${text}</text>`
  return `<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'>${mark}${letter}${count > 0 ? badge : ''}</svg>`
}
