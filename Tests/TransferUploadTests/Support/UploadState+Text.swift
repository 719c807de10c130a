public import TransferUpload

/// States as texts, in the form that versions before the envelope kept.
extension UploadState: ExpressibleByStringInterpolation {
    public init(stringLiteral text: String) { self.init(earlier: text) }

    /// Returns whether the dialogue's own text contains a text.
    func contains(_ text: String) -> Bool { payload.contains(text) }

    /// Returns the state with a part of its text replaced.
    func replacing(_ text: String, with other: String) -> UploadState {
        var state = self
        state.payload = payload.replacing(text, with: other)
        return state
    }
}
