-- What a verdict says where a gate is restricted to a scope that no case belongs to.
create macro no_case_message() as
    'no case of the workload belongs to this scope'
