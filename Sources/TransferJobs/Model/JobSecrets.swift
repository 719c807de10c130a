import TransferCore

/// The parts of a job that are never stored on disk: signed queries and user information of its URLs, and literal
/// values that are secrets.
///
/// The database holds the job without them. The process that received the job keeps the original in memory; a later
/// process obtains it by reading the job file again.
package struct JobSecrets: Sendable {
    private let original: JobSpec

    /// Creates the secrets of a job.
    ///
    /// - Returns: `nil` for a job that contains no secret.
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

    /// Returns whether a job contains a secret that must not be stored.
    package static func isIn(_ spec: JobSpec) -> Bool {
        let isInURL =
            switch spec.work {
            case .download(let download): download.urls.contains(where: Redaction.hasSecret)
            case .upload(let upload): Redaction.hasSecret(upload.url)
            }
        return isInURL || !spec.hasNoSettings && spec.settings.hasSecret || spec.copySource?.hasSecret == true
    }

    /// Returns the job in the form that may be stored.
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
