import { api } from '../api.ts'
import { useLoad } from '../use-load.ts'

/** An installation by the name of its integration. The id stands there until it is read, and where it is gone. */
export function InstallationLink({ org, id }: { org: string; id: string }) {
  const { value } = useLoad(`name of ${org} ${id}`, (signal) =>
    api.call('GET /v1/installations/{installation}', { params: { installation: id }, signal }),
  )
  return (
    <a href={`/orgs/${org}/installations/${id}`} title={id}>
      {value?.integration ?? <code>{id}</code>}
    </a>
  )
}
