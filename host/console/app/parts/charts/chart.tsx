import { useLayoutEffect, useRef } from 'preact/hooks'
import type uPlot from 'uplot'
import { texts } from '../../texts.ts'
import { timeZone, toExact } from '../time.tsx'
import { type ChartData, toHeadText, toShortText, type Unit } from './to-charts.ts'

const height = 132
/** All charts with this name mark the time that the pointer is at. */
const cursorName = 'activity'

/** A chart, with its numbers as a table below. The drawing is for the eye alone. */
export function Chart({ times, chart }: { times: number[]; chart: ChartData }) {
  const box = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const element = box.current
    if (element === null) return
    return draw(element, times, chart)
  }, [times, chart])
  return (
    <figure class="chart">
      <figcaption>
        <strong>{chart.name}</strong>
        <ul>
          {chart.lines.map((line) => (
            <li key={line.label} class={`line ${line.tone}`}>
              {line.label} <span class="now">{toHeadText(line, chart) ?? texts.charts.none}</span>
            </li>
          ))}
        </ul>
      </figcaption>
      <div ref={box} class="drawing" aria-hidden="true" />
      <details>
        <summary>{texts.charts.numbers}</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a keyboard scrolls the box */}
        <section class="scroll" aria-label={chart.name} tabIndex={0}>
          <Numbers times={times} chart={chart} />
        </section>
      </details>
    </figure>
  )
}

/** The newest first. */
function Numbers({ times, chart }: { times: number[]; chart: ChartData }) {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">{texts.charts.time}</th>
          {chart.lines.map(({ label }) => (
            <th key={label} scope="col">
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {times
          .map((time, at) => (
            <tr key={time}>
              <th scope="row" class="nowrap">
                {toExact(time * 1000)}
              </th>
              {chart.lines.map(({ label, values }) => (
                <td key={label} class="nowrap">
                  {values[at] == null ? texts.charts.none : toShortText(values[at], chart.unit)}
                </td>
              ))}
            </tr>
          ))
          .reverse()}
      </tbody>
    </table>
  )
}

/** @returns removes the drawing */
function draw(element: HTMLElement, times: number[], chart: ChartData): () => void {
  let plot: uPlot | undefined
  let isOver = false
  const dark = matchMedia('(prefers-color-scheme: dark)')
  const size = new ResizeObserver(() => plot?.setSize({ width: element.clientWidth, height }))
  const redraw = async () => {
    // Its code is loaded with the first chart.
    const { default: UPlot } = await import('uplot')
    if (isOver) return
    plot?.destroy()
    plot = new UPlot(toOptions(element, chart), toData(times, chart), element)
  }
  redraw()
  size.observe(element)
  dark.addEventListener('change', redraw)
  return () => {
    isOver = true
    size.disconnect()
    dark.removeEventListener('change', redraw)
    plot?.destroy()
  }
}

/** The last step is not over: its counts would draw a fall that has not happened. */
function toData(times: number[], { lines }: ChartData): uPlot.AlignedData {
  const isKnown = lines.some(({ values }) => values.slice(0, -1).some((value) => value))
  const end = isKnown ? -1 : times.length
  return [times.slice(0, end), ...lines.map(({ values }) => values.slice(0, end))]
}

function toOptions(element: HTMLElement, { lines, unit }: ChartData): uPlot.Options {
  const style = getComputedStyle(element)
  const color = (name: string) => style.getPropertyValue(`--${name}`)
  const axis: uPlot.Axis = {
    stroke: color('muted'),
    font: `11px ${color('sans')}`,
    grid: { stroke: color('line'), width: 1 },
    ticks: { show: false },
  }
  return {
    width: element.clientWidth,
    height,
    padding: [8, 8, 0, 0],
    legend: { show: false },
    cursor: { sync: { key: cursorName }, y: false, points: { size: 6 }, drag: { x: false, y: false } },
    scales: { y: { range: (_plot, _min, max) => [0, Math.max(max * 1.1, least[unit])] } },
    axes: [
      { ...axis, size: 24, space: 64, values: toTimeTexts },
      {
        ...axis,
        size: 56,
        space: 32,
        ...(unit === 'count' && { incrs: wholeSteps }),
        ...(unit === 'seconds' && { incrs: timeSteps }),
        values: (_plot, values) => values.map((value) => toShortText(value, unit)),
      },
    ],
    series: [
      {},
      ...lines.map(({ label, tone }) => ({
        label,
        stroke: color(tone),
        width: 1.5,
        spanGaps: false,
        points: { show: unit === 'ms', size: 4, fill: color(tone), filter: findLone },
      })),
    ],
  }
}

/** A line joins neighbours. A value between two gaps shows as a point. */
function findLone({ data }: uPlot, series: number): number[] {
  const values = Array.from(data[series] ?? [])
  const isThere = (at: number) => typeof values[at] === 'number'
  return [...values.keys()].filter((at) => isThere(at) && !isThere(at - 1) && !isThere(at + 1))
}

/** The least that an axis shows: without it a line at 0 has an axis of fractions. */
const least: Record<Unit, number> = { count: 4, ms: 10, seconds: 10, bytes: 20_000_000, percent: 0.1 }
/** Half of a request is none. */
const wholeSteps = Array.from({ length: 10 }, (_, power) =>
  [1, 2, 5].map((digit) => digit * 10 ** power),
).flat()

const daySeconds = 86_400
/** Seconds, minutes, hours and days that people count in. */
const timeSteps = [
  ...[1, 60].flatMap((unit) => [1, 2, 5, 10, 20, 30].map((count) => count * unit)),
  ...[1, 2, 4, 6, 12].map((hours) => hours * 3_600),
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500].map((days) => days * daySeconds),
]

/** In the chosen time zone: days where the marks are a day apart, else the time of the day. */
function toTimeTexts(_plot: uPlot, seconds: number[], _axis: number, _space: number, step: number): string[] {
  const zone = timeZone.value === '' ? {} : { timeZone: timeZone.value }
  const format = new Intl.DateTimeFormat('en-GB', {
    ...zone,
    ...(step >= daySeconds ? { weekday: 'short', day: 'numeric' } : { hour: '2-digit', minute: '2-digit' }),
  })
  return seconds.map((one) => format.format(one * 1000))
}
