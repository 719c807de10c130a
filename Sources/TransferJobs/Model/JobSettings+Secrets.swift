/// The secrets in a job's settings, and the names of secrets stored elsewhere.
extension JobSettings {
    /// The names of the credentials that the job's request needs.
    package var credentialNames: [String] {
        var own = self
        // The secrets of a hook are read when the hook is called.
        own.onFinish = nil
        let texts = JobFields.all.order.secrets.flatMap { $0.texts(own) }
        return texts.compactMap { text in
            if case .credential(let name) = text { name } else { nil }
        }
    }

    /// Whether the settings contain a secret that must not be stored.
    package var hasSecret: Bool { JobFields.all.order.secrets.contains { $0.isWrittenOut(self) } }

    /// The settings in the form that may be stored.
    package var redacted: JobSettings {
        var result = self
        for secrets in JobFields.all.order.secrets { secrets.redact(&result) }
        return result
    }

    /// Whether the settings refer to nothing stored elsewhere.
    package var namesNoUser: Bool {
        headers.isEmpty && proxy == nil && tls == TLSSettings() && auth == nil && s3 == nil && ssh == nil && ftp == nil
            && http.cookies == nil && confinement == nil && sealed == nil
    }
}

// The settings of the two sides of a copy.
extension JobSettings {
    /// The settings that apply to both sides of a copy: those that reveal no identity to a server.
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

    /// The settings that belong to the job and to no server.
    package var ofJob: JobSettings { JobSettings().with(rulesOfJob: self) }

    /// Returns these settings, with the job's own rules taken from others.
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
        result.sealed = other.sealed
        return result
    }
}
