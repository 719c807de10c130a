import TransferCore
import TransferQueue

/// The workers of a queue that many machines share, as `transfer status` shows them.
struct WorkerTable {
    let workers: [WorkerStatus]

    init(_ workers: [WorkerStatus]) { self.workers = workers }

    /// Returns the lines of the table; none where there are no workers.
    ///
    /// - Parameter width: The columns of the terminal; `nil` for output of any width.
    func lines(_ charset: Charset, width: Int? = nil) -> [String] {
        guard !workers.isEmpty else { return [] }
        var table = TextTable([
            ("WORKER", .left), ("PID", .right), ("RUNNING", .right), ("CLAIMED", .right), ("RATE", .left),
            ("LEASE", .left), ("SINCE", .left), ("TAGS", .left),
        ])
        for worker in workers {
            table.add([
                charset.visible(worker.host), "\(worker.pid)", NumberText.grouped(worker.active),
                NumberText.grouped(worker.claimed), worker.rate > 0 ? NumberText.rate(worker.rate) : "-",
                worker.lease > .zero ? DurationText.clock(worker.lease) : "over", TimeText.local(worker.began),
                worker.tags.isEmpty ? "-" : worker.tags.text,
            ])
        }
        return [""] + table.lines(width: width)
    }

    /// The workers as JSON Lines, one object each.
    ///
    /// The members are `worker` (its machine), `pid`, `running`, `claimed`, `rate` (bytes a second), `lease` (its
    /// remaining seconds, 0 where it is over), `since` and `tags`.
    var json: [String] {
        workers.map { worker in
            JSONObject.text { object in
                object.field("worker", worker.host)
                object.field("pid", Int64(worker.pid))
                object.field("running", worker.active)
                object.field("claimed", worker.claimed)
                object.field("rate", worker.rate)
                object.field("lease", worker.lease)
                object.field("since", time: worker.began)
                object.strings("tags", worker.tags.names)
            }
        }
    }
}
