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
    package var namesNoUser: Bool {
        headers.isEmpty && proxy == nil && tls == TLSSettings() && auth == nil && s3 == nil && ssh == nil && ftp == nil
            && http.cookies == nil && confinement == nil
    }
}

// The two sides of a copy.
extension JobSettings {
    /// The rules that hold for both sides of a copy: those that tell no server who asks.
    package var ofBothSides: JobSettings {
        var result = self
        result.headers = []
        result.auth = nil
        result.tls = TLSSettings()
        result.http.cookies = nil
        result.s3 = nil
        result.ssh = nil
        result.ftp = nil
        return result
    }

    /// The rules that are the job's and no server's.
    package var ofJob: JobSettings { JobSettings().with(rulesOfJob: self) }

    /// The same, with the job's own rules of another.
    package func with(rulesOfJob other: JobSettings) -> JobSettings {
        var result = self
        result.retry = other.retry
        result.maxTime = other.maxTime
        result.limitRate = other.limitRate
        result.congestion = other.congestion
        result.isBackground = other.isBackground
        result.network = other.network
        result.onFinish = other.onFinish
        result.confinement = other.confinement
        return result
    }
}
