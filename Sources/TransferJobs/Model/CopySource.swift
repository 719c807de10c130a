package import TransferCore

/// The source of a copy: the download whose bytes are sent on, and the settings for its servers. The job's own settings
/// are the destination's.
public struct CopySource: Sendable, Hashable {
    /// The URLs, and the digests that verify the file. The ``JobSpec/Download/destination`` is empty.
    public var download: JobSpec.Download
    package var sharedSettings: Shared<JobSettings>

    /// The settings for the source's servers; none of them reaches the destination.
    public var settings: JobSettings {
        _read { yield sharedSettings.wrappedValue }
        _modify { yield &sharedSettings.wrappedValue }
    }

    /// Creates a source from a download and the settings for its servers.
    public init(_ download: JobSpec.Download, settings: JobSettings = JobSettings()) {
        self.init(download, Shared(wrappedValue: settings))
    }

    package init(_ download: JobSpec.Download, _ settings: Shared<JobSettings>) {
        self.download = download
        sharedSettings = settings
    }

    /// The source as a job of its own, for code that makes its requests.
    package var job: JobSpec {
        JobSpec(id: nil, work: .download(download), needs: [], priority: 0, settings: sharedSettings)
    }

    package var hasNoSettings: Bool { sharedSettings.isSame(as: JobDefaults.noSettings) }

    /// Whether the source contains a secret that must not be stored.
    package var hasSecret: Bool {
        download.urls.contains(where: Redaction.hasSecret) || !hasNoSettings && settings.hasSecret
    }

    package var redacted: CopySource {
        guard hasSecret else { return self }
        var result = self
        result.download.urls = download.urls.map(Redaction.url)
        result.settings = settings.redacted
        return result
    }

    /// The source with its URLs in the spelling in which they are sent.
    package var spelt: CopySource {
        var result = self
        result.download.urls = download.urls.map(URLSpelling.canonicalIfPossible)
        return result
    }
}
