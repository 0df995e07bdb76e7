import { useState } from 'preact/hooks'
import type { MadeToken, Token } from '../../../../../schemas/generated/api/tokens.ts'
import { useRows } from '../../lists/use-rows.ts'
import { Action } from '../../parts/action.tsx'
import { Cancel } from '../../parts/cancel.tsx'
import { CopyButton, Id } from '../../parts/copy.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Form } from '../../parts/form.tsx'
import { RowsPage } from '../../parts/rows.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { reasonAgainst } from '../../person.ts'
import { sayDone } from '../../state.ts'
import { navigationTexts } from '../../texts/navigation.ts'
import { tokenTexts as texts } from '../../texts/tokens.ts'
import { texts as general } from '../../texts.ts'
import { MakeToken } from './make-token.tsx'
import type { Owner } from './owner.ts'

/** The tokens of an organization, or of Annex as a whole: listed, made and revoked. */
export function TokenList({ owner, here, page }: { owner: Owner; here: string; page: string | undefined }) {
  const [made, setMade] = useState<MadeToken>()
  const [revoking, setRevoking] = useState<Token>()
  const rows = useRows(`tokens ${here}`, page, (at, signal) => owner.list(at, signal))
  const { reload } = rows.list
  return (
    <>
      <RowsPage
        of={rows}
        addressOf={(page) => (page === undefined ? here : `${here}?page=${page}`)}
        kept={() => texts.kept}
        empty={<p>{texts.nothing}</p>}
        filtered={undefined}
      >
        {(tokens) => <Tokens owner={owner} tokens={tokens} revoke={setRevoking} />}
      </RowsPage>
      <MakeToken
        owner={owner}
        onMade={(token) => {
          setMade(token)
          rows.showNew()
        }}
      />
      {made && <Made token={made} onClose={() => setMade(undefined)} />}
      {revoking && (
        <Revoke
          owner={owner}
          token={revoking}
          onEnd={() => {
            setRevoking(undefined)
            reload()
          }}
        />
      )}
    </>
  )
}

const nameOf = ({ label, id }: Token): string => label || `…${id.slice(-6)}`

function Tokens({
  owner,
  tokens,
  revoke,
}: {
  owner: Owner
  tokens: readonly Token[]
  revoke: (token: Token) => void
}) {
  const members = owner.useMembers()
  const ofRoles: readonly Column<Token>[] = [
    { title: texts.columns.role, kind: 'nowrap', cell: ({ role }) => role },
    {
      title: texts.columns.member,
      cell: ({ member }) =>
        member === null ? (
          <span class="muted">{texts.noMember}</span>
        ) : (
          (members.get(member) ?? <code>{member}</code>)
        ),
    },
  ]
  return (
    <Table
      label={navigationTexts.tokens}
      rows={tokens}
      keyOf={({ id }) => id}
      columns={[
        {
          title: texts.columns.label,
          kind: 'wide-cell',
          cell: ({ id, label }) => (
            <>
              <bdi class={label === '' ? 'muted' : ''}>{label || texts.noLabel}</bdi>
              <br />
              <Id value={id} />
            </>
          ),
        },
        ...(owner.hasRoles ? ofRoles : []),
        {
          title: texts.columns.used,
          kind: 'nowrap',
          cell: ({ lastUsedAt }) => (lastUsedAt === null ? general.never : <Time at={lastUsedAt} />),
        },
        {
          title: texts.columns.expires,
          kind: 'nowrap',
          cell: ({ expiresAt }) => <Expiry at={expiresAt} />,
        },
        { title: texts.columns.created, kind: 'nowrap', cell: ({ createdAt }) => <Time at={createdAt} /> },
        {
          title: texts.columns.actions,
          kind: 'nowrap',
          cell: (token) => (
            <Action kind="plain" act={() => revoke(token)} reason={reasonAgainst(owner.operations.revoke)}>
              {texts.revoke}
              <span class="visually-hidden">{nameOf(token)}</span>
            </Action>
          ),
        },
      ]}
    />
  )
}

function Expiry({ at }: { at: string | null }) {
  if (at === null) return <>{texts.never}</>
  if (Date.parse(at) > Date.now()) return <Time at={at} />
  return (
    <span class="bad-text">
      {texts.expired} <Time at={at} />
    </span>
  )
}

function Made({ token: { token }, onClose }: { token: MadeToken; onClose: () => void }) {
  const command = `curl -H 'Authorization: Bearer ${token}' ${location.origin}/v1/me`
  return (
    <Dialog title={texts.madeTitle}>
      <p>{texts.madeWhat}</p>
      <pre>{token}</pre>
      <p>{texts.try}</p>
      <pre>{command}</pre>
      <div class="row">
        <CopyButton isLabelled text={token} label={texts.copy} />
        <button type="button" onClick={onClose}>
          {texts.close}
        </button>
      </div>
    </Dialog>
  )
}

function Revoke({ owner, token, onEnd }: { owner: Owner; token: Token; onEnd: () => void }) {
  const revoke = async () => {
    await owner.revoke(token.id)
    sayDone(texts.revoked)
    onEnd()
  }
  return (
    <Dialog title={texts.revokeTitle(nameOf(token))} onClose={onEnd}>
      <Form submit={revoke} label={texts.revokeAction} kind="bad">
        <p>{texts.revokeWhat}</p>
      </Form>
      <Cancel act={onEnd} />
    </Dialog>
  )
}
