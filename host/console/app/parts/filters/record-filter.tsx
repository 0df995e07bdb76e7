import { api } from '../../api.ts'
import { texts } from '../../texts.ts'
import { useLoad } from '../../use-load.ts'
import { Choice } from '../field.tsx'

type Option = { value: string; label: string }

const most = 100

/** A choice among records. One that is not among the first ones may still be in the address. */
export function RecordFilter({
  label,
  any,
  options,
  value,
  onValue,
}: {
  label: string
  any: string
  options: readonly Option[]
  value: string
  onValue: (value: string) => void
}) {
  const isKnown = value === '' || options.some((one) => one.value === value)
  const missing = isKnown ? [] : [{ value, label: value }]
  return (
    <Choice
      isHidden
      label={label}
      value={value}
      options={[{ value: '', label: any }, ...missing, ...options]}
      onValue={onValue}
    />
  )
}

/** A choice among the installations of an organization. */
export function InstallationFilter({
  org,
  ...given
}: {
  org: string
  value: string
  onValue: (value: string) => void
}) {
  const { value = [] } = useLoad(`installations to choose ${org}`, async (signal) => {
    const query = { organization: org, limit: most }
    const { items } = await api.call('GET /v1/installations', { query, signal })
    return items.map(({ id, integration }) => ({ value: id, label: `${integration} …${id.slice(-6)}` }))
  })
  return (
    <RecordFilter
      label={texts.list.installation}
      any={texts.list.anyInstallation}
      options={value}
      {...given}
    />
  )
}
