import { Field } from '../../parts/field.tsx'
import { placeTexts as texts } from '../../texts/places.ts'

export type PlaceValues = { title: string; slug: string; url: string }

/** What a person says of a site or space. */
export const PlaceFields = ({
  title,
  slug,
  url,
  onChange,
}: PlaceValues & { onChange: (change: Partial<PlaceValues>) => void }) => (
  <>
    <Field
      label={texts.titleOf}
      required
      autocomplete="off"
      value={title}
      onValue={(title) => onChange({ title })}
    />
    <Field
      label={texts.slug}
      hint={texts.slugHint}
      required
      autocomplete="off"
      value={slug}
      onValue={(slug) => onChange({ slug })}
    />
    <Field
      label={texts.url}
      hint={texts.urlHint}
      type="url"
      autocomplete="off"
      value={url}
      onValue={(url) => onChange({ url })}
    />
  </>
)
