package import TransferCore

/// The source of a copy: what is downloaded to be sent on, and the rules by which its servers are asked. Those of the
/// job itself are the destination's.
public struct CopySource: Sendable, Hashable {
    /// The URLs, and what proves the file. Its ``JobSpec/Download/destination`` is empty.
    public var download: JobSpec.Download
    package var sharedSettings: Shared<JobSettings>

    /// What the source's servers are shown and told; nothing of it reaches the destination.
    public var settings: JobSettings {
        _read { yield sharedSettings.wrappedValue }
        _modify { yield &sharedSettings.wrappedValue }
    }

    public init(_ download: JobSpec.Download, settings: JobSettings = JobSettings()) {
        self.init(download, Shared(wrappedValue: settings))
    }

    package init(_ download: JobSpec.Download, _ settings: Shared<JobSettings>) {
        self.download = download
        sharedSettings = settings
    }

    /// The source as a job of its own, for those who make its requests.
    package var job: JobSpec {
        JobSpec(id: nil, work: .download(download), needs: [], priority: 0, settings: sharedSettings)
    }

    package var hasNoSettings: Bool { sharedSettings.isSame(as: JobDefaults.noSettings) }

    /// Whether it holds what must not be written down.
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

    /// With its URLs in the spelling in which they are sent.
    package var spelt: CopySource {
        var result = self
        result.download.urls = download.urls.map(URLSpelling.canonicalIfPossible)
        return result
    }
}
