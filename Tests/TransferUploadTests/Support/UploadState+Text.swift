public import TransferUpload

/// Tests write states down as versions before the envelope kept them.
extension UploadState: ExpressibleByStringInterpolation {
    public init(stringLiteral text: String) { self.init(earlier: text) }

    /// Whether a dialogue's own text has that in it.
    func contains(_ text: String) -> Bool { payload.contains(text) }

    /// The same with another text.
    func replacing(_ text: String, with other: String) -> UploadState {
        var state = self
        state.payload = payload.replacing(text, with: other)
        return state
    }
}
