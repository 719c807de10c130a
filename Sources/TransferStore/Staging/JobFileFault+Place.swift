package import TransferJobs

extension JobFileFault {
    /// Makes a fault with its place, or with the file's beginning where it has none.
    package init(_ message: String, _ make: (String) -> JobFileFault?) {
        self = make(message) ?? JobFileFault(message: message, path: "", span: SourceSpan(line: 1, column: 1))
    }
}
