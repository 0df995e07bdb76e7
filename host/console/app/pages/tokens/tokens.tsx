import { useMemo } from 'preact/hooks'
import { useRoute } from 'preact-iso'
import { Head } from '../../parts/head.tsx'
import { Permitted } from '../../parts/permitted.tsx'
import { navigationTexts } from '../../texts/navigation.ts'
import { tokenTexts as texts } from '../../texts/tokens.ts'
import { ofOrganization } from './owner.ts'
import { TokenList } from './token-list.tsx'

/** Tokens of one organization. */
export default function TokensPage() {
  const { params, query } = useRoute()
  const { org = '' } = params
  const owner = useMemo(() => ofOrganization(org), [org])
  return (
    <>
      <Head
        title={navigationTexts.tokens}
        crumbs={[{ label: org, href: `/orgs/${org}` }, { label: navigationTexts.tokens }]}
      >
        {texts.what}
      </Head>
      <Permitted operation={owner.operations.list}>
        <TokenList owner={owner} here={`/orgs/${org}/tokens`} page={query.page} />
      </Permitted>
    </>
  )
}
