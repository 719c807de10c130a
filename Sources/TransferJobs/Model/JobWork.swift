package import TransferCore

/// The questions that are answered by the work of a job alone.
extension JobSpec.Work {
    package var isUpload: Bool {
        if case .upload = self { return true }
        return false
    }

    /// A download's mirrors, or an upload's one URL.
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

    /// The method its request is made with.
    package var method: String {
        switch self {
        case .download(let download): download.method ?? "GET"
        case .upload(let upload): upload.method ?? upload.uploadProtocol.entry.method
        }
    }

    /// Whether its server can be asked what it has before anything is sent again.
    package var asksFirst: Bool {
        guard case .upload(let upload) = self else { return false }
        return upload.entry.canBeAsked
    }

    /// Whether its request changes something each time it's made, as far as its method says and its owner allows.
    package func mustNotRepeat(_ retry: RetrySettings) -> Bool {
        switch self {
        case .download(let download): if download.body == nil { return false }
        // These ask their server what it has.
        case .upload: if asksFirst { return false }
        }
        return !(retry.methods ?? RetryRule.idempotentMethods).contains(method)
    }

    /// Whether it's a download that fails where nothing proves it to be whole.
    package var isStrict: Bool {
        if case .download(let download) = self { download.strict } else { false }
    }

    package var isCompressed: Bool {
        if case .download(let download) = self { download.compressed } else { false }
    }

    /// Whether an upload of another version than it began with isn't wanted.
    package var failsIfChanged: Bool {
        if case .upload(let upload) = self { upload.options.ifChanged == .fail } else { false }
    }
}

extension JobSpec.Download {
    /// The same, where what nothing proves is to fail.
    package var strictly: Self {
        var result = self
        result.strict = true
        if adopt == .unproven { result.adopt = .proven }
        return result
    }
}
