extension UploadState {
    /// Reads a state of versions before the envelope: a text that its dialogue recognised by its beginning.
    ///
    /// Texts of that form are in databases of users, and must remain readable. A text of no known dialogue keeps its
    /// bytes, and no dialogue reads it.
    public init(earlier text: String) {
        self =
            ConfirmingPut.state(earlier: text) ?? ReceiptDialogue.state(earlier: text)
            ?? VerifyingDialogue.state(earlier: text) ?? S3State(text)?.saved ?? InPlaceState(text: text)?.saved
            ?? FileServerState(text)?.saved ?? TusState(text)?.saved ?? ResumableState(text: text)?.saved
            ?? (text.isEmpty ? .nothing : UploadState(kind: "unknown", canAsk: false, payload: text))
    }

    /// Returns the text behind a mark at the beginning of such a text.
    static func payload(of text: String, after mark: String) -> String? {
        text.hasPrefix(mark) ? String(text.dropFirst(mark.count)) : nil
    }
}
