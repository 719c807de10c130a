package import TransferCore

extension JobSpec {
    /// The source of a copy: what is downloaded to be sent on, and the rules by which its servers are asked. Those of the
    /// job itself are the destination's.
    public struct CopySource: Sendable, Hashable {
        /// The URLs, and what proves the file. Its ``Download/destination`` is empty.
        public var download: Download
        package var sharedSettings: Shared<JobSettings>

        /// What the source's servers are shown and told; nothing of it reaches the destination.
        public var settings: JobSettings {
            _read { yield sharedSettings.wrappedValue }
            _modify { yield &sharedSettings.wrappedValue }
        }

        public init(_ download: Download, settings: JobSettings = JobSettings()) {
            self.init(download, Shared(wrappedValue: settings))
        }

        package init(_ download: Download, _ settings: Shared<JobSettings>) {
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

    /// The source of a copy; `nil` for other jobs.
    package var copySource: CopySource? {
        if case .upload(let upload) = work { upload.from } else { nil }
    }

    /// Whether it's a copy of which the destination keeps no part: it begins again from its start.
    public var beginsAgain: Bool { copySource != nil && !asksFirst }
}

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
        result.network = other.network
        result.onFinish = other.onFinish
        return result
    }
}
