import TransferCore
import TransferUpload

/// An upload that is about to be tried, as its protocol sees it.
struct UploadAttempt {
    let spec: JobSpec
    let upload: JobSpec.Upload
    let source: UploadSource
    /// What an earlier attempt saved.
    var state: UploadState?
    let secrets: SecretSource

    /// - Returns: `nil` for an upload that is one request and no more.
    func dialogue() throws(TransferError) -> (any UploadDialogue)? { try upload.entry.dialogue(self) }

    /// The dialogue of an upload whose server is asked for the digest of what it has.
    func verifyingDialogue() throws(TransferError) -> any UploadDialogue {
        var own = self
        own.state = state.flatMap { VerifyingDialogue.isVerifying($0) ? nil : $0 }
        let inner =
            try own.dialogue()
            ?? own.receipted(PlainPut(url: upload.url, method: spec.method, source: source, namesWhatItMade: true))
        return VerifyingDialogue(inner, source: source, state: state, place: try upload.entry.place(self))
    }

    /// A dialogue whose end is held to what is a receipt.
    func receipted(_ dialogue: (any UploadDialogue)?) -> any UploadDialogue {
        ReceiptDialogue(dialogue, rule: upload.receipt, url: upload.url, source: source, state: state)
    }

    /// What the owner says of the content goes before what the protocol would say of it.
    func resumableOptions(_ mode: ResumableOptions.Mode) throws(TransferError) -> ResumableOptions {
        var fields = try headers().filter { OwnersFields.isOfContent($0.name) }
        if let type = FileType.field(for: source.name, at: upload.url, beside: fields) { fields.append(type) }
        return ResumableOptions(
            url: upload.url, method: spec.method, mode: mode, chunkSize: upload.options.chunkSize, headers: fields)
    }

    /// The owner's fields, with their secrets.
    func headers() throws(TransferError) -> [HeaderField] {
        var result: [HeaderField] = []
        for header in spec.settings.headers { result.append(HeaderField(header.name, try secrets.read(header.value))) }
        return result
    }

    /// Names and values that go along with the file, with their secrets.
    func read(_ fields: [JobSpec.Upload.Field]) throws(TransferError) -> [HeaderField] {
        var result: [HeaderField] = []
        for field in fields { result.append(HeaderField(field.name, try secrets.read(field.value))) }
        return result
    }
}
