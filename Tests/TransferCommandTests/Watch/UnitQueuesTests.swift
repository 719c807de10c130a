import Foundation
import Testing
import TransferTestSupport

@testable import transfer

/// The commands by which `transfer status` leads to the queues of the units.
@Suite struct UnitQueuesTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder("units")
        for name in ["films", "run/nightly", "work/eu", "my batch"] {
            try FileManager.default.createDirectory(atPath: folder.path(name), withIntermediateDirectories: true)
        }
        try folder.write("", to: "no-queue")
    }

    private func hints(_ hint: CommandHint = CommandHint(), _ environment: [String: String] = [:]) -> [String] {
        UnitQueues.hints(hint, folder: folder.path, environment: environment)
    }

    @Test func eachQueueOfAUnitHasItsCommand() {
        #expect(
            hints() == [
                "the unit's queue films: transfer status --state \(folder.path("films"))",
                "the unit's queue my batch: transfer status --state '\(folder.path("my batch"))'",
                "the unit's queue run/nightly: transfer status --state \(folder.path("run/nightly"))",
            ])
    }

    @Test func aPlaceThatWasNamedIsShownAlone() {
        #expect(hints(CommandHint(state: "/srv/queue")).isEmpty)
        #expect(hints(CommandHint(server: "http://127.0.0.1:6800")).isEmpty)
        #expect(hints(CommandHint(), ["TRANSFER_STATE": "/srv/queue"]).isEmpty)
    }

    @Test func aMachineWithoutUnitsHasNone() {
        #expect(UnitQueues.hints(CommandHint(), folder: folder.path("missing"), environment: [:]).isEmpty)
    }
}
