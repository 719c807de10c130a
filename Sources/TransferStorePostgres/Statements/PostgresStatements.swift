/// All statements that have a function.
package enum PostgresStatements {
    package static let all: [PostgresStatement] = {
        let parts: [[PostgresStatement]] = [
            PostgresAnswers.statements, PostgresBatches.statements, PostgresClaims.statements,
            PostgresCompletedJobs.statements, PostgresDatabase.statements, PostgresDependents.statements,
            PostgresEndNumbers.statements,
            PostgresEnds.statements, PostgresHoldings.statements, PostgresHookCalls.statements,
            PostgresHookMessages.statements,
            PostgresIntake.statements, PostgresJobFacts.statements, PostgresJobList.statements,
            PostgresLeases.statements, PostgresMerge.statements, PostgresMigration.statements,
            PostgresNeeds.statements, PostgresNews.statements, PostgresNotes.statements, PostgresPace.statements,
            PostgresPlaces.statements,
            PostgresReadyJobs.statements, PostgresRecords.statements, PostgresReplacedUploads.statements,
            PostgresReplication.statements,
            PostgresRunNews.statements, PostgresStagedNeeds.statements,
            PostgresStaging.statements, PostgresStatus.statements, PostgresSteering.statements,
            PostgresSubmissions.statements, PostgresTags.statements, PostgresUnderWay.statements,
            PostgresUploads.statements, PostgresWishes.statements, PostgresRecalls.statements,
        ]
        return parts.flatMap { $0 }
    }()
}
