import Hummingbird
import TransferEventLoop
import TransferQueue

/// The routes for the state of the service and its queue.
struct StatusRoutes: Sendable {
    let served: ServedQueue
    let live: LiveJobs
    private let queueHealth: QueueHealth

    init(served: ServedQueue, live: LiveJobs) {
        self.served = served
        self.live = live
        queueHealth = QueueHealth { _ = try await served.look { try $0.lastCursor() } }
    }

    func add(to routes: RouterGroup<ServerContext>) {
        routes.get("status") { _, context in try await status(context.level) }
        routes.get("network") { _, _ in try await network() }
        routes.get("folders") { _, context in try await folders(isOwner: context.level == .owner) }
        routes.get("hosts") { _, _ in try await hosts() }
    }

    /// Answers whether the queue can be read, for monitors of the service.
    func health() async -> Response {
        await queueHealth.isGood() ? .nothing : Response(status: .serviceUnavailable, headers: [.retryAfter: "5"])
    }

    private func status(_ level: AccessRules.Level) async throws -> Response {
        let (statuses, cursor) = try await served.look { (try $0.statuses(), try $0.lastCursor()) }
        let rates = live.rates
        let total = { (path: KeyPath<BatchStatus, Int>) in statuses.reduce(0) { $0 + $1[keyPath: path] } }
        return .json { writer in
            writer.member("version", TransferVersion.current)
            writer.member("time", time: WallClock.milliseconds)
            writer.member("level", level == .owner ? "owner" : "reader")
            writer.member("cursor", String(cursor))
            writer.member("directory", served.rules.directory)
            writer.member("batches", statuses.count)
            writer.member("jobs") { writer in
                writer.member("total", total(\.total))
                writer.member("running", rates.count)
                writer.member("remaining", total(\.remaining))
                writer.member("waiting", total(\.waiting))
                writer.member("paused", total(\.paused))
                writer.member("done", total(\.done))
                writer.member("failed", total(\.failed))
                writer.member("skipped", total(\.skipped))
                writer.member("cancelled", total(\.cancelled))
            }
            writer.member("rate") { writer in
                writer.member("download", rates.download)
                writer.member("upload", rates.upload)
            }
            writer.member("eta", statuses.compactMap(\.eta).max().map { Int($0.components.seconds) })
            writer.member("offline", statuses.compactMap(\.waitingFor).first)
        }
    }

    private func network() async throws -> Response {
        let network = try await served.off { NetworkMonitor().current }
        return .json { writer in
            writer.member("links", objects: network.links.filter { $0.name != "lo" }) { writer, link in
                writer.member("name", link.name)
                writer.member("isUp", link.isUp && link.hasCarrier)
                writer.member("isMetered", network.metering(of: link.index).isMetered)
            }
        }
    }

    private func folders(isOwner: Bool) async throws -> Response {
        let statuses = try await served.look { try $0.statuses() }.filter { $0.folder != nil }
        return .json { writer in
            writer.member("folders", objects: statuses) { writer, status in
                guard let folder = status.folder else { return }
                writer.member("path", folder.path)
                writer.member("batch", status.name)
                writer.member("url", folder.url.map { JobJSON.shown($0, isOwner) })
                writer.member("lastUpload", time: folder.last?.time)
                writer.member("waiting", folder.waiting)
                writer.member("waitingBytes", folder.waitingBytes)
                writer.member("oldest", time: folder.oldest?.time)
                writer.member("isWatched", status.pid != nil)
                guard let error = folder.error else { return }
                writer.member("error") { writer in
                    writer.member("id", error.job)
                    writer.member("code", error.code)
                    writer.member("message", error.message)
                }
            }
        }
    }

    /// Answers with the servers for which jobs wait.
    private func hosts() async throws -> Response {
        let waits = try await served.look { try $0.statuses() }.flatMap(\.hosts)
        return .json { writer in
            writer.member("hosts", objects: waits) { writer, host in
                writer.member("origin", host.origin)
                writer.member("waiting", host.jobs)
                writer.member("since", time: host.since)
                writer.member("status", host.status)
                writer.member("message", host.message)
                writer.member("remaining", host.remaining)
            }
        }
    }
}
