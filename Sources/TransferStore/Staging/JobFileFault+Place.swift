package import TransferJobs

extension JobFileFault {
    /// A fault with its place, where it has one.
    package init(_ message: String, _ make: (String) -> JobFileFault?) {
        self = make(message) ?? JobFileFault(message: message, path: "", span: SourceSpan(line: 1, column: 1))
    }
}
