import { useRoute } from 'preact-iso'
import { Head } from '../../parts/head.tsx'
import { OperatorsOnly } from '../../parts/permitted.tsx'
import { tokenTexts as texts } from '../../texts/tokens.ts'
import { ofAnnex } from './owner.ts'
import { TokenList } from './token-list.tsx'

/** Tokens of operators that belong to no organization. */
export default function AnnexTokensPage() {
  const { query } = useRoute()
  return (
    <>
      <Head title={texts.ofAnnex}>{texts.ofAnnexWhat}</Head>
      <OperatorsOnly>
        <TokenList owner={ofAnnex} here="/tokens" page={query.page} />
      </OperatorsOnly>
    </>
  )
}
