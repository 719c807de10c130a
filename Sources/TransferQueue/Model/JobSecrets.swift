import TransferCore

/// The parts of a job that never go to disk: signed queries and userinfo of its URLs, and values that were written out
/// though they are secrets.
///
/// The database holds the job without them. The process that was given the job keeps the original here, in memory; a
/// later process gets it when it reads the job file again.
struct JobSecrets: Sendable {
    private let original: JobSpec

    /// - Returns: `nil` for a job that holds no secret.
    init?(_ spec: JobSpec) {
        guard spec.hasSecret else { return nil }
        original = spec
    }

    func restore(_ spec: JobSpec) -> JobSpec {
        var result = spec
        result.urls = original.urls
        result.settings = original.settings
        return result
    }
}

extension JobSpec {
    var urls: [String] {
        get {
            switch work {
            case .download(let download): download.urls
            case .upload(let upload): [upload.url]
            }
        }
        set {
            switch work {
            case .download(var download):
                download.urls = newValue
                work = .download(download)
            case .upload(var upload):
                upload.url = newValue.first ?? upload.url
                work = .upload(upload)
            }
        }
    }

    var checksum: Checksum? {
        switch work {
        case .download(let download): download.checksum
        case .upload(let upload): upload.checksum
        }
    }

    var hasSecret: Bool {
        let isInURL =
            switch work {
            case .download(let download): download.urls.contains(where: Redaction.hasSecret)
            case .upload(let upload): Redaction.hasSecret(upload.url)
            }
        return isInURL || !hasNoSettings && settings.hasSecret
    }

    /// The job as it may be written down.
    var redacted: JobSpec {
        guard hasSecret else { return self }
        var result = self
        result.urls = urls.map(Redaction.url)
        result.settings = settings.redacted
        return result
    }
}

extension JobSettings {
    fileprivate var hasSecret: Bool { JobFields.all.order.secrets.contains { $0.isWrittenOut(self) } }

    fileprivate var redacted: JobSettings {
        var result = self
        for secrets in JobFields.all.order.secrets { secrets.redact(&result) }
        return result
    }
}
