public import Foundation
import FoundationNetworking
import TransferCore

extension DownloadRequest {
    /// Returns a destination in one of the user's folders. The safe name stems from the server (Content-Disposition) or
    /// the URL.
    @preconcurrency
    public class func suggestedDownloadDestination(
        for directory: FileManager.SearchPathDirectory = .documentDirectory,
        in domain: FileManager.SearchPathDomainMask = .userDomainMask, options: Options = []
    ) -> Destination {
        { temporary, response in
            guard let folder = FileManager.default.urls(for: directory, in: domain).first else {
                return (temporary, options)
            }
            let name = SafeFileName.forDownload(
                url: response.url?.absoluteString ?? "",
                disposition: response.value(forHTTPHeaderField: "Content-Disposition"))
            return (folder.appendingPathComponent(name), options)
        }
    }

    /// Returns a destination that does not depend on the response.
    @preconcurrency
    public static func destination(_ url: URL, options: Options = []) -> Destination { { _, _ in (url, options) } }
}
