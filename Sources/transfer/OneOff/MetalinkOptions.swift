import ArgumentParser
import Synchronization
import TransferCore
import TransferQueue

/// How Metalinks are taken.
struct MetalinkOptions: ParsableArguments {
    @Option(
        name: .customLong("location"),
        help: ArgumentHelp(
            "Of a Metalink's sources, those in these countries first, such as de,fr.", valueName: "countries"))
    var locations: String?

    /// The rules of a Metalink whose files keep their names.
    var rules: MetalinkRules { rules(output: nil) }

    /// - Parameter output: The path of the one file.
    func rules(output: String?) -> MetalinkRules {
        MetalinkRules(
            locations: locations?.split(separator: ",").map { String($0.filter { $0 != " " }) } ?? [], output: output)
    }

    /// The option as it was given, to be given again.
    var words: [String] { locations.map { ["--location", $0] } ?? [] }
}

/// The Metalinks that came where files were expected, as their media type says.
final class FoundMetalinks: Sendable {
    private let found = Mutex<[JobReceipt]>([])

    /// RFC 5854 §8.1, and what servers call version 3.
    private static let mediaTypes = ["application/metalink4+xml", "application/metalink+xml"]

    var receipts: [JobReceipt] { found.withLock { $0 } }

    func note(_ event: QueueEvent) {
        guard case .finished(let receipt) = event.kind, let type = receipt.mediaType, Self.mediaTypes.contains(type)
        else { return }
        found.withLock { $0.append(receipt) }
    }
}
