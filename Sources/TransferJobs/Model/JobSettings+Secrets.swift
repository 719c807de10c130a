/// The secrets in a job's settings, and what they name elsewhere.
extension JobSettings {
    /// The names of the credentials that the job's request needs.
    package var credentialNames: [String] {
        var own = self
        // Its secrets are asked for when it's told.
        own.onFinish = nil
        let texts = JobFields.all.order.secrets.flatMap { $0.texts(own) }
        return texts.compactMap { text in
            if case .credential(let name) = text { name } else { nil }
        }
    }

    /// Whether they hold what must not be written down.
    package var hasSecret: Bool { JobFields.all.order.secrets.contains { $0.isWrittenOut(self) } }

    /// The settings as they may be written down.
    package var redacted: JobSettings {
        var result = self
        for secrets in JobFields.all.order.secrets { secrets.redact(&result) }
        return result
    }

    /// Whether nothing in them names something that is elsewhere.
    package var namesNobody: Bool {
        headers.isEmpty && proxy == nil && tls == TLSSettings() && auth == nil && s3 == nil && ssh == nil && ftp == nil
            && http.cookies == nil
    }
}
