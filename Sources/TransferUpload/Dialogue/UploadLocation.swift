import TransferCore

/// The URL of an upload that a server reports.
enum UploadLocation {
    /// Resolves a Location.
    ///
    /// - Parameter base: The URL that answered.
    /// - Returns: An absolute URL without fragment and userinfo; `nil` for a text that is no http or https URL with a
    ///   host.
    static func url(_ location: String, from base: String) -> String? {
        guard !location.isEmpty, let url = URLReference.resolve(location, against: base), Origin(url: url) != nil else {
            return nil
        }
        return url
    }
}

extension UploadAnswer {
    var isSuccess: Bool { (200..<300).contains(head.status) }
}
