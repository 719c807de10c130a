import TransferCore

/// The key `onFinish`: the command or webhook that is called when a job, or the batch, has ended.
package enum FinishFields {
    /// The values of a webhook while its keys are read.
    package struct WebhookDraft: Sendable {
        package var url: SecretText?
        package var secret: SecretText?
    }

    package static let webhook = ObjectFields<WebhookDraft>(
        [
            Field(
                secret: "url", \.url,
                .named(schema: #""type": "string", "pattern": "^[Hh][Tt][Tt][Pp][Ss]?://[^\\s/?#@]+([/?#]\\S*)?$""#) {
                    refusal(ofWebhookURL: $0)
                }, mustBeNamed: false,
                "The URL that the message is POSTed to. It is named as a secret where everyone who knows the URL may "
                    + "post."),
            Field(
                secret: "secret", \.secret, .secret("a key"),
                "The key of the signature, as in Standard Webhooks: whsec_ and base64, or any text."),
        ], schema: #""required": ["url"]"#)

    package static let summary =
        "The command or webhook to call when the job has ended. A command is given by its name, and the configuration "
        + "defines it."

    package static let onFinish = Field<JobSettings>(
        FieldNote(summary, schema: schema, object: webhook.note("webhook")),
        FieldOutput(
            "onFinish",
            secrets: FieldSecrets { settings in
                guard let hook = settings.onFinish?.webhook else { return [] }
                return [hook.url, hook.secret].compactMap(\.self).filter { !$0.isLiteral }
            } isWrittenOut: { settings in
                guard let hook = settings.onFinish?.webhook else { return false }
                return hook.secret?.isWrittenOut == true || hook.hasSecretURL
            } redact: { settings in
                guard case .webhook(var hook)? = settings.onFinish else { return }
                if hook.secret?.isLiteral == true { hook.secret = .blank }
                if hook.hasSecretURL, case .literal(let url) = hook.url { hook.url = .literal(Redaction.url(url)) }
                settings.onFinish = .webhook(hook)
            }
        ) { writer, settings in
            guard let hook = settings.onFinish else { return }
            writer.key("onFinish")
            write(&writer, hook)
        }, copy: { $0.onFinish = $1.onFinish }
    ) { (decoder, settings) throws(JSONFault) in settings.onFinish = try read(&decoder) ?? settings.onFinish }

    package static let schema =
        ##""anyOf": [{ "type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$" }, { "$ref": "#/$defs/webhook" }]"##

    private static func write(_ writer: inout JSONWriter, _ hook: FinishHook) {
        switch hook {
        case .command(let name): writer.string(name)
        case .webhook(let hook): webhook.write(&writer, WebhookDraft(url: hook.url, secret: hook.secret))
        }
    }

    /// Reads a hook.
    ///
    /// - Returns: `nil` where the value is invalid, which is noted.
    package static func read(_ decoder: inout JobDecoder) throws(JSONFault) -> FinishHook? {
        let kind = try decoder.reader.kind()
        switch kind {
        case .string: return try decoder.string(FinishHook.refusal(ofName:)).map { .command($0) }
        case .object:
            let start = decoder.reader.offset
            let before = decoder.problems.count
            var draft = WebhookDraft()
            guard try webhook.read(&decoder, into: &draft) != nil, decoder.problems.count == before else { return nil }
            guard let url = draft.url else {
                decoder.note("\"url\" is missing; write {\"url\": \"https://…\"}", decoder.brace(start))
                return nil
            }
            return .webhook(FinishHook.Webhook(url: url, secret: draft.secret))
        default:
            try decoder.mismatch("the name of a command, or an object with the \"url\" of a webhook", kind)
            return nil
        }
    }

    private static let urlAdvice = "name the whole URL as a secret: \"url\": {\"env\": \"NAME\"}"

    static func refusal(ofWebhookURL url: String) -> String? {
        if let refusal = URLRule.refusal(of: url, schemes: ["https", "http"], advice: urlAdvice) {
            return refusal.message
        }
        return Redaction.hasSecret(url) ? "the URL holds a secret; \(urlAdvice)" : nil
    }
}

extension FinishHook {
    /// Explains why a literal URL cannot be a webhook's.
    ///
    /// - Returns: The reason in words; `nil` for a valid URL.
    public static func refusal(ofURL url: String) -> String? { FinishFields.refusal(ofWebhookURL: url) }
}

extension FinishHook.Webhook {
    fileprivate var hasSecretURL: Bool {
        if case .literal(let url) = url { Redaction.hasSecret(url) } else { false }
    }
}
