import ArgumentParser
import Synchronization
import TransferCore
import TransferQueue

/// The options for Metalinks.
struct MetalinkOptions: ParsableArguments {
    @Option(
        name: .customLong("location"),
        help: ArgumentHelp(
            "Try the sources of a Metalink in these countries first, such as de,fr.", valueName: "countries"))
    var locations: String?

    /// The rules of a Metalink whose files keep their names.
    var rules: MetalinkRules { rules(output: nil) }

    /// Returns the rules of a Metalink.
    ///
    /// - Parameter output: The path of the one file.
    func rules(output: String?) -> MetalinkRules {
        MetalinkRules(
            locations: locations?.split(separator: ",").map { String($0.filter { $0 != " " }) } ?? [], output: output)
    }

    /// The given option, for another command line.
    var words: [String] { locations.map { ["--location", $0] } ?? [] }
}

/// The Metalinks that came in place of files, recognised by their media type.
final class FoundMetalinks: Sendable {
    private let found = Mutex<[JobReceipt]>([])

    /// The types of RFC 5854 §8.1, and of version 3 by servers' usage.
    private static let mediaTypes = ["application/metalink4+xml", "application/metalink+xml"]

    var receipts: [JobReceipt] { found.withLock { $0 } }

    func note(_ event: QueueEvent) {
        guard case .finished(let receipt) = event.kind, let type = receipt.mediaType, Self.mediaTypes.contains(type)
        else { return }
        found.withLock { $0.append(receipt) }
    }
}
