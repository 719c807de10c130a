package import TransferCore
package import TransferUpload

/// An attempt of an upload before its start, for the code of its protocol.
package struct UploadAttempt {
    package let spec: JobSpec
    package let upload: JobSpec.Upload
    package let source: UploadSource
    /// The state that an earlier attempt saved.
    package var state: UploadState?
    /// The known abilities of the account on a file server.
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

    /// Creates the attempt's dialogue.
    ///
    /// - Returns: `nil` for an upload that is a single request.
    package func dialogue() throws(TransferError) -> (any UploadDialogue)? { try upload.entry.dialogue(self) }

    /// Returns the dialogue of an upload whose server is asked for the digest of its data.
    package func verifyingDialogue() throws(TransferError) -> any UploadDialogue {
        var own = self
        own.state = state.flatMap { VerifyingDialogue.isVerifying($0) ? nil : $0 }
        let inner =
            try own.dialogue()
            ?? own.receipted(PlainPut(url: upload.url, method: spec.method, source: source, namesWhatItMade: true))
        return VerifyingDialogue(inner, source: source, state: state, place: try upload.entry.place(self))
    }

    /// Returns the dialogue of a copy, which is never a single request.
    package func dialogueOfCopy() throws(TransferError) -> any UploadDialogue {
        try dialogue()
            ?? receipted(PlainPut(url: upload.url, method: spec.method, source: source, namesWhatItMade: true))
    }

    /// Returns a dialogue that requires a confirming response at its end.
    package func receipted(_ dialogue: (any UploadDialogue)?) -> any UploadDialogue {
        ReceiptDialogue(dialogue, rule: upload.receipt, url: upload.url, source: source, state: state)
    }

    /// Returns the options of a resumable upload. The owner's fields for the content override the protocol's.
    package func resumableOptions(_ mode: ResumableOptions.Mode) throws(TransferError) -> ResumableOptions {
        var fields = try headers().filter { OwnersFields.isOfContent($0.name) }
        fields += (source.labels?.contentFields ?? []).filter { label in fields.value(label.name) == nil }
        if let type = FileType.field(for: source.name, at: upload.url, beside: fields) { fields.append(type) }
        return ResumableOptions(
            url: upload.url, method: spec.method, mode: mode, chunkSize: upload.options.chunkSize, headers: fields)
    }

    /// Returns the owner's header fields, with the values of their secrets.
    package func headers() throws(TransferError) -> [HeaderField] {
        var result: [HeaderField] = []
        for header in spec.settings.headers { result.append(HeaderField(header.name, try secrets.read(header.value))) }
        return result
    }

    /// Returns the names and values sent with the file, with the values of their secrets.
    package func read(_ fields: [JobSpec.Upload.Field]) throws(TransferError) -> [HeaderField] {
        var result: [HeaderField] = []
        for field in fields { result.append(HeaderField(field.name, try secrets.read(field.value))) }
        return result
    }
}
