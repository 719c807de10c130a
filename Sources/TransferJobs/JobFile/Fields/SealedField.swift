import TransferCore

/// The key for a job's sealed secrets in its canonical text. Job files cannot have it; only texts that this program
/// wrote do.
package enum SealedField {
    static let row = JobField(
        "sealed", [], .all, FieldNote("The encrypted secrets of the job.", schema: #""type": "string""#),
        [
            .settings(
                FieldOutput("sealed") { writer, settings in
                    guard let sealed = settings.sealed else { return }
                    writer.key("sealed")
                    writer.string(sealed)
                })
        ]
    ) { (decoder, draft) throws(JSONFault) in
        guard try decoder.expect(.string) else { return }
        let text = try decoder.reader.string()
        draft.rules.settings.sealed = decoder.reader.string(text)
    }
}
