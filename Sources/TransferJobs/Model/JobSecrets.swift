import TransferCore

/// The parts of a job that never go to disk: signed queries and userinfo of its URLs, and values that were written out
/// though they are secrets.
///
/// The database holds the job without them. The process that was given the job keeps the original here, in memory; a
/// later process gets it when it reads the job file again.
package struct JobSecrets: Sendable {
    private let original: JobSpec

    /// - Returns: `nil` for a job that holds no secret.
    package init?(_ spec: JobSpec) {
        guard Self.isIn(spec) else { return nil }
        original = spec
    }

    package func restore(_ spec: JobSpec) -> JobSpec {
        var result = spec
        result.urls = original.urls
        result.settings = original.settings
        if case .upload(var upload) = result.work, let from = original.copySource {
            upload.from = from
            result.work = .upload(upload)
        }
        return result
    }

    /// Whether a job holds what must not be written down.
    package static func isIn(_ spec: JobSpec) -> Bool {
        let isInURL =
            switch spec.work {
            case .download(let download): download.urls.contains(where: Redaction.hasSecret)
            case .upload(let upload): Redaction.hasSecret(upload.url)
            }
        return isInURL || !spec.hasNoSettings && spec.settings.hasSecret || spec.copySource?.hasSecret == true
    }

    /// The job as it may be written down.
    package static func redacted(_ spec: JobSpec) -> JobSpec {
        guard isIn(spec) else { return spec }
        var result = spec
        result.urls = spec.urls.map(Redaction.url)
        result.settings = spec.settings.redacted
        if case .upload(var upload) = result.work, let from = upload.from {
            upload.from = from.redacted
            result.work = .upload(upload)
        }
        return result
    }
}
