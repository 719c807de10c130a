extension UploadState {
    /// A state as versions before the envelope kept it: a text, which its dialogue knew by its beginning.
    ///
    /// Such texts are in databases of users, and are read for ever. A text that none of those dialogues wrote keeps its
    /// bytes, and no dialogue reads it.
    public init(earlier text: String) {
        self =
            ConfirmingPut.state(earlier: text) ?? ReceiptDialogue.state(earlier: text)
            ?? VerifyingDialogue.state(earlier: text) ?? S3State(text)?.saved ?? InPlaceState(text: text)?.saved
            ?? FileServerState(text)?.saved ?? TusState(text)?.saved ?? ResumableState(text: text)?.saved
            ?? (text.isEmpty ? .nothing : UploadState(kind: "unknown", canAsk: false, payload: text))
    }

    /// The text behind a mark at the beginning of such a text.
    static func payload(of text: String, after mark: String) -> String? {
        text.hasPrefix(mark) ? String(text.dropFirst(mark.count)) : nil
    }
}
