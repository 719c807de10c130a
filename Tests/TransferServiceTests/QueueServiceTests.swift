import Logging
import ServiceLifecycle
import Testing
import TransferQueue
import TransferService
import TransferTestSupport

@Suite(.timeLimit(.minutes(1))) struct QueueServiceTests {
    @Test func aShutdownBeforeTheStartEndsTheServiceToo() async throws {
        let folder = try TemporaryFolder("service")
        let queue = try await TransferQueue.open(.init(state: folder.path("state")))
        let group = ServiceGroup(services: [QueueService(queue)], logger: Logger(label: "test"))
        await group.triggerGracefulShutdown()
        try await group.run()
        await queue.close()
    }
}
