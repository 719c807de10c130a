import TransferCore

extension JobSpec {
    /// Whether its request changes something each time it's made, as far as its method says and its owner allows.
    var mustNotRepeat: Bool {
        switch work {
        case .download(let download): if download.body == nil { return false }
        // These ask their server what it has.
        case .upload: if asksFirst { return false }
        }
        return !(settings.retry.methods ?? RetryRule.idempotentMethods).contains(method)
    }

    /// By which it's judged whether a failed attempt may be followed by another: protocols that ask first may always.
    var methodOfRetries: String { asksFirst ? "PUT" : method }

    /// Whether its server can be asked what it has before anything is sent again.
    var asksFirst: Bool {
        guard case .upload(let upload) = work else { return false }
        return upload.entry.canBeAsked
    }

    /// The method its request is made with.
    var method: String {
        switch work {
        case .download(let download): download.method ?? "GET"
        case .upload(let upload): upload.method ?? upload.uploadProtocol.entry.method
        }
    }
}
