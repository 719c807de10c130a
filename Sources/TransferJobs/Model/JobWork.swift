package import TransferCore

/// The properties of a job that depend on its work alone.
extension JobSpec.Work {
    package var isUpload: Bool {
        if case .upload = self { return true }
        return false
    }

    /// The mirrors of a download, or the only URL of an upload.
    package var urls: [String] {
        get {
            switch self {
            case .download(let download): download.urls
            case .upload(let upload): [upload.url]
            }
        }
        set {
            switch self {
            case .download(var download):
                download.urls = newValue
                self = .download(download)
            case .upload(var upload):
                upload.url = newValue.first ?? upload.url
                self = .upload(upload)
            }
        }
    }

    package var checksum: Checksum? {
        switch self {
        case .download(let download): download.checksum
        case .upload(let upload): upload.checksum
        }
    }

    /// The local file: a download's destination, or an upload's source.
    package var path: String {
        switch self {
        case .download(let download): download.destination
        case .upload(let upload): upload.source
        }
    }

    /// The method of the request.
    package var method: String {
        switch self {
        case .download(let download): download.method ?? "GET"
        case .upload(let upload): upload.method ?? upload.uploadProtocol.entry.method
        }
    }

    /// Whether the server can report its data before anything is sent again.
    package var asksFirst: Bool {
        guard case .upload(let upload) = self else { return false }
        return upload.entry.canBeAsked
    }

    /// Returns whether a repeated request could change something on the server again, judged by its method and the
    /// owner's rules.
    package func mustNotRepeat(_ retry: RetrySettings) -> Bool {
        switch self {
        case .download(let download): if download.body == nil { return false }
        // Uploads of these protocols ask the server for its data first.
        case .upload: if asksFirst { return false }
        }
        return !(retry.methods ?? RetryRule.idempotentMethods).contains(method)
    }

    /// Whether this is a download that fails where nothing proves that it is complete.
    package var isStrict: Bool {
        if case .download(let download) = self { download.strict } else { false }
    }

    package var isCompressed: Bool {
        if case .download(let download) = self { download.compressed } else { false }
    }

    /// Whether an upload fails when the source's version changes.
    package var failsIfChanged: Bool {
        if case .upload(let upload) = self { upload.options.ifChanged == .fail } else { false }
    }
}

extension JobSpec.Download {
    /// The same download, which fails where nothing proves that it is complete.
    package var strictly: Self {
        var result = self
        result.strict = true
        if adopt == .unproven { result.adopt = .proven }
        return result
    }
}
