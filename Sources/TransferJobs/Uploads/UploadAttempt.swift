package import TransferCore
package import TransferUpload

/// An upload that is about to be tried, as its protocol sees it.
package struct UploadAttempt {
    package let spec: JobSpec
    package let upload: JobSpec.Upload
    package let source: UploadSource
    /// What an earlier attempt saved.
    package var state: UploadState?
    /// What is known of the account, on a file server.
    package let abilities: AccountAbilities
    package let secrets: SecretSource

    package init(
        spec: JobSpec, upload: JobSpec.Upload, source: UploadSource, state: UploadState? = nil,
        abilities: AccountAbilities = AccountAbilities(), secrets: SecretSource
    ) {
        self.spec = spec
        self.upload = upload
        self.source = source
        self.state = state
        self.abilities = abilities
        self.secrets = secrets
    }

    /// - Returns: `nil` for an upload that is one request and no more.
    package func dialogue() throws(TransferError) -> (any UploadDialogue)? { try upload.entry.dialogue(self) }

    /// The dialogue of an upload whose server is asked for the digest of what it has.
    package func verifyingDialogue() throws(TransferError) -> any UploadDialogue {
        var own = self
        own.state = state.flatMap { VerifyingDialogue.isVerifying($0) ? nil : $0 }
        let inner =
            try own.dialogue()
            ?? own.receipted(PlainPut(url: upload.url, method: spec.method, source: source, namesWhatItMade: true))
        return VerifyingDialogue(inner, source: source, state: state, place: try upload.entry.place(self))
    }

    /// The dialogue of a copy, which is never one request and no more.
    package func dialogueOfCopy() throws(TransferError) -> any UploadDialogue {
        try dialogue()
            ?? receipted(PlainPut(url: upload.url, method: spec.method, source: source, namesWhatItMade: true))
    }

    /// A dialogue whose end is held to what is a receipt.
    package func receipted(_ dialogue: (any UploadDialogue)?) -> any UploadDialogue {
        ReceiptDialogue(dialogue, rule: upload.receipt, url: upload.url, source: source, state: state)
    }

    /// What the owner says of the content goes before what the protocol would say of it.
    package func resumableOptions(_ mode: ResumableOptions.Mode) throws(TransferError) -> ResumableOptions {
        var fields = try headers().filter { OwnersFields.isOfContent($0.name) }
        fields += (source.labels?.contentFields ?? []).filter { label in fields.value(label.name) == nil }
        if let type = FileType.field(for: source.name, at: upload.url, beside: fields) { fields.append(type) }
        return ResumableOptions(
            url: upload.url, method: spec.method, mode: mode, chunkSize: upload.options.chunkSize, headers: fields)
    }

    /// The owner's fields, with their secrets.
    package func headers() throws(TransferError) -> [HeaderField] {
        var result: [HeaderField] = []
        for header in spec.settings.headers { result.append(HeaderField(header.name, try secrets.read(header.value))) }
        return result
    }

    /// Names and values that go along with the file, with their secrets.
    package func read(_ fields: [JobSpec.Upload.Field]) throws(TransferError) -> [HeaderField] {
        var result: [HeaderField] = []
        for field in fields { result.append(HeaderField(field.name, try secrets.read(field.value))) }
        return result
    }
}
